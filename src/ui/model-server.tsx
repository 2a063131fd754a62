/** A model behind an OpenAI-compatible server, as the policy. */

import { connectModel } from './load.ts';
import { ServerForm } from './server-form.tsx';

export function ModelServer({ locked }: { locked: boolean }) {
  return (
    <details className="change">
      <summary>Model on a server</summary>
      <p className="aside">
        llama-server, vLLM or another OpenAI-compatible server with log-probabilities acts; its
        weights cannot be trained from here. The key is kept for this session only.
      </p>
      <ServerForm
        of="server"
        model={{ placeholder: 'model or adapter name' }}
        adapters
        locked={locked}
        onConnect={connectModel}
      />
    </details>
  );
}
