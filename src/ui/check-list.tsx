/** Some of a fixed set of names, as a group of check boxes. */

interface CheckListProps<Name extends string> {
  readonly legend: string;
  /** False where the legend stands beside the group already: then it is only heard. */
  readonly legendSeen: boolean;
  readonly options: readonly Name[];
  /** What each option means. */
  readonly tips?: Readonly<Record<Name, string>>;
  readonly chosen: readonly string[];
  /** The chosen names, in the order of the options. */
  readonly onChange: (chosen: readonly Name[]) => void;
  readonly id?: string;
  readonly 'aria-describedby'?: string;
}

export function CheckList<Name extends string>({
  legend,
  legendSeen,
  options,
  tips,
  chosen,
  onChange,
  ...named
}: CheckListProps<Name>) {
  return (
    <fieldset className="check-list" {...named}>
      <legend className={legendSeen ? undefined : 'unseen'}>{legend}</legend>
      {options.map((option) => (
        <label key={option} className="check" data-tip={tips?.[option]}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={(event) =>
              onChange(
                options.filter((one) =>
                  one === option ? event.target.checked : chosen.includes(one),
                ),
              )
            }
          />
          {option}
        </label>
      ))}
    </fieldset>
  );
}
