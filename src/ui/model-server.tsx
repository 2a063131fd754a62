/** A model behind an OpenAI-compatible server, as the policy. */

import { connectModel } from './load.ts';
import { ServerForm } from './server-form.tsx';
import { modelServer as say } from './strings.ts';

export function ModelServer({ locked }: { locked: boolean }) {
  return (
    <details className="change">
      <summary>{say.modelServer}</summary>
      <p className="aside">{say.help}</p>
      <ServerForm
        of="server"
        model={{ placeholder: say.modelName }}
        adapters
        locked={locked}
        onConnect={(ref) => connectModel(ref)}
      />
    </details>
  );
}
