/** A choice of one among few, side by side: radio buttons that look like one button in parts. */

import { type ReactNode, useId } from 'react';
import './segments.css';

export interface Segment<T> {
  readonly value: T;
  readonly label: ReactNode;
  readonly tip?: string;
}

export function Segments<T>({
  legend,
  options,
  value,
  tip,
  onChange,
}: {
  /** Said, not shown. */
  legend: string;
  options: readonly Segment<T>[];
  value: T;
  tip?: string;
  onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className="segments" data-tip={tip}>
      <legend className="unseen">{legend}</legend>
      {options.map((option) => (
        <label key={String(option.value)} data-tip={option.tip}>
          <input
            type="radio"
            name={name}
            className="unseen"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
