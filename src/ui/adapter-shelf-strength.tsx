/** A slider for how strong an adapter acts: 0 is the base alone, 1 the adapter as it was trained. */

export function Strength({
  label,
  value,
  onChange,
}: {
  label: string;
  value: number;
  onChange: (value: number) => void;
}) {
  return (
    <label className="shelf-strength">
      {label}
      <input
        type="range"
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
