/** Who writes the summaries of update text "summary": the policy itself, or a served model. */

import { serverAddress } from '../formats/channel.ts';
import { connectSummaries, disconnectSummaries } from './load.ts';
import { ServerForm } from './server-form.tsx';
import { useLab } from './store.ts';

export function SummaryServer({ locked }: { locked: boolean }) {
  const server = useLab((state) => state.summaryServer);
  const channel = useLab((state) => state.channel);
  const model = useLab((state) => state.settings.summary_model);
  if (server) {
    return (
      <div className="group">
        <p className="aside">
          <b>{model}</b> at <code>{serverAddress(server.baseUrl)}</code> writes the summaries. It is
          sent the task and the steps so far; its key is kept for this session only.
        </p>
        <button
          type="button"
          className="button small"
          disabled={locked}
          onClick={disconnectSummaries}
        >
          Let the policy write them
        </button>
      </div>
    );
  }
  return (
    <div className="group">
      <p className="aside">
        {model === ''
          ? 'The policy writes the summaries itself. Or let a model on an OpenAI-compatible server do it:'
          : `The summaries are to come from "${model}". Connect its server, or empty the summary model.`}
      </p>
      <ServerForm
        // An opened config.toml fills it anew.
        key={`${channel?.base_url ?? ''} ${model}`}
        of="summary server"
        model={{ placeholder: 'summary model', value: model }}
        locked={locked}
        onConnect={connectSummaries}
        {...(channel && { baseUrl: channel.base_url, timeout: channel.timeout })}
      />
    </div>
  );
}
