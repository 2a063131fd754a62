/** What charts are drawn over: steps or something else, evenly or logarithmically. One choice for all charts. */

import { type StepAxis, stepAxes } from './step-axis.ts';
import { dispatch, useLab } from './store.ts';
import { overAxis as say } from './strings.ts';

/** What stands at the beginning of an axis. */
export const axisUnits: Readonly<Record<StepAxis, string>> = {
  step: say.step,
  share: say.share,
  tokens: say.tokens,
  seconds: say.seconds,
};

const names: Readonly<Record<StepAxis, string>> = {
  step: say.overStep,
  share: say.overShare,
  tokens: say.overTokens,
  seconds: say.overSeconds,
};

/** `missing`: it cannot be drawn so, and is drawn over steps. */
export function OverAxis({ missing }: { missing: boolean }) {
  const axis = useLab((state) => state.reading.axis);
  const log = useLab((state) => state.reading.log);
  return (
    <span className="over-axis">
      <select
        aria-label={say.axis}
        data-tip={missing ? say.noTimes : say.axisHelp}
        data-missing={missing || undefined}
        value={axis}
        onChange={(event) => {
          const chosen = stepAxes.find((one) => one === event.target.value);
          if (chosen) dispatch({ type: 'step_axis', axis: chosen });
        }}
      >
        {stepAxes.map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="button bare small"
        aria-pressed={log}
        aria-label={say.logAxis}
        data-tip={say.logHelp}
        onClick={() => dispatch({ type: 'log_axis', on: !log })}
      >
        {say.log}
      </button>
    </span>
  );
}
