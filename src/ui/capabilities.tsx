/** What this machine and browser offer: each step of the probe, what was found and what to do. */

import { useId } from 'react';
import { startLab } from './actions.ts';
import { Dialog } from './dialog.tsx';
import { Mark } from './icons.tsx';
import { backendOf, withBackend } from './query.ts';
import { isRunning } from './state.ts';
import { useLab } from './store.ts';
import { capabilities as say } from './strings.ts';
import './capabilities.css';
import type { BackendName, Capabilities, ProbeStep } from '../records.ts';

export function CapabilitiesDialog({ onClose }: { onClose: () => void }) {
  const capabilities = useLab((state) => state.capabilities);
  const running = useLab(isRunning);
  return (
    <Dialog title={say.title} onClose={onClose}>
      {capabilities ? (
        <>
          <p className="capability-reason">
            <strong>{backendName(capabilities)}</strong> {capabilities.reason}
          </p>
          <p className="capability-device">{capabilities.device}</p>
          <ProbeSteps steps={capabilities.steps} />
        </>
      ) : (
        <p>{say.noAnswerYet}</p>
      )}
      <BackendChoice disabled={running} />
      <p className="capability-restart">
        <button
          type="button"
          className="button"
          disabled={running}
          onClick={() => {
            onClose();
            void startLab();
          }}
        >
          {say.restartEngine}
        </button>
        <span>{running ? say.stopRunFirst : say.restartHelp}</span>
      </p>
    </Dialog>
  );
}

const choices = [
  ['', say.wishBest],
  ['webgpu', say.wishWebgpu],
  ['wasm', say.wishWasm],
] as const satisfies readonly (readonly [BackendName | '', string])[];

/** What shall compute; kept in the address, so that a link and a reload ask for the same. */
function BackendChoice({ disabled }: { disabled: boolean }) {
  const id = useId();
  return (
    <p className="capability-choice">
      <label htmlFor={id}>{say.compute}</label>
      <select
        id={id}
        disabled={disabled}
        defaultValue={backendOf(location.search) ?? ''}
        onChange={(event) => {
          const chosen = choices.find(([name]) => name === event.target.value)?.[0] ?? '';
          const search = withBackend(location.search, chosen === '' ? null : chosen);
          history.replaceState(null, '', `${location.pathname}${search}${location.hash}`);
          void startLab();
        }}
      >
        {choices.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </p>
  );
}

function backendName({ backend }: Capabilities): string {
  return {
    webgpu: say.onWebgpu,
    wasm: say.onWasm,
    cpu: say.onCpu,
  }[backend];
}

const stepNames: Readonly<Record<ProbeStep['step'], string>> = {
  'navigator.gpu': say.webgpu,
  adapter: say.adapter,
  device: say.device,
  'shader-f16': say.shaderF16,
  isolation: say.isolation,
  storage: say.storage,
};

/** The steps as a list, each with its next step where it is not well. */
export function ProbeSteps({ steps }: { steps: readonly ProbeStep[] }) {
  return (
    <ul className="probe">
      {steps.map((step) => (
        <li key={step.step}>
          <Mark tone={step.ok ? 'good' : 'warn'} />
          <div>
            <strong>{stepNames[step.step]}</strong>
            <span className="unseen">{step.ok ? say.fine : say.notAvailable}</span>
            <span className="found"> {step.found}</span>
            {step.next && <p>{step.next}</p>}
          </div>
        </li>
      ))}
    </ul>
  );
}
