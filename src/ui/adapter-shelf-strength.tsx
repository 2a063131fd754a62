/** A slider for how strong an adapter acts: 0 is the base alone, 1 the adapter as it was trained. */

import { adapterShelfStrength as say } from './strings.ts';

export function Strength({
  of,
  value,
  onChange,
}: {
  /** The adapter's name, for those who do not see what the slider stands beside; null where it is alone. */
  of: string | null;
  value: number;
  onChange: (value: number) => void;
}) {
  return (
    <label className="shelf-strength">
      {say.strength}
      <input
        type="range"
        {...(of !== null && { 'aria-label': say.strengthOf(of) })}
        min={0}
        max={2}
        step={0.05}
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      />
      <output className="mono">× {value.toFixed(2)}</output>
    </label>
  );
}
