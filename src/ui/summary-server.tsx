/** Who writes the summaries of update text "summary": the policy itself, or a served model. */

import { serverAddress } from '../formats/channel.ts';
import { connectSummaries, disconnectSummaries } from './load.ts';
import { ServerForm } from './server-form.tsx';
import { useLab } from './store.ts';
import { summaryServer as say } from './strings.ts';

export function SummaryServer({ locked }: { locked: boolean }) {
  const server = useLab((state) => state.summaryServer);
  const channel = useLab((state) => state.channel);
  const model = useLab((state) => state.settings.summary_model);
  if (server) {
    return (
      <div className="group">
        <p className="aside">
          <b>{model}</b> {say.at} <code>{serverAddress(server.baseUrl)}</code> {say.writesThem}
        </p>
        <button
          type="button"
          className="button small"
          disabled={locked}
          onClick={disconnectSummaries}
        >
          {say.letPolicyWrite}
        </button>
      </div>
    );
  }
  return (
    <div className="group">
      <p className="aside">{model === '' ? say.policyWrites : say.connectFirst(model)}</p>
      <ServerForm
        // An opened config.toml fills it anew.
        key={`${channel?.base_url ?? ''} ${model}`}
        of={say.summaryServer}
        model={{ placeholder: say.summaryModel, value: model }}
        locked={locked}
        onConnect={connectSummaries}
        {...(channel && { baseUrl: channel.base_url, timeout: channel.timeout })}
      />
    </div>
  );
}
