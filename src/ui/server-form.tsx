/** Asks where a model is served: an address, its name there, a key for this session. */

import { useState } from 'react';
import { DEFAULT_TIMEOUT_SECONDS } from '../formats/channel.ts';
import type { RemoteRef } from '../records.ts';
import { serverForm as say } from './strings.ts';
import './server-form.css';

export function ServerForm({
  of,
  model: named,
  baseUrl: known = '',
  timeout = DEFAULT_TIMEOUT_SECONDS,
  adapters = false,
  locked,
  onConnect,
}: {
  /** Which server, as the fields' names say it. */
  of: string;
  model: { readonly placeholder: string; readonly value?: string };
  baseUrl?: string;
  timeout?: number;
  /** Also ask for an adapter on the server's disk. */
  adapters?: boolean;
  locked: boolean;
  /** The form waits for it. */
  onConnect: (ref: RemoteRef) => Promise<unknown>;
}) {
  const [baseUrl, setBaseUrl] = useState(known);
  const [model, setModel] = useState(named.value ?? '');
  const [adapter, setAdapter] = useState('');
  const [key, setKey] = useState('');
  const [asking, setAsking] = useState(false);
  const connect = async () => {
    setAsking(true);
    const apiKey = key.trim() === '' ? null : key.trim();
    const ref = { baseUrl: baseUrl.trim(), model: model.trim(), apiKey, timeout };
    await onConnect({ ...ref, adapter: adapter.trim() });
    setAsking(false);
  };
  return (
    <form
      className="server"
      onSubmit={(event) => {
        event.preventDefault();
        void connect();
      }}
    >
      <input
        type="url"
        required
        aria-label={say.address(of)}
        placeholder="http://127.0.0.1:8080"
        value={baseUrl}
        onChange={(event) => setBaseUrl(event.target.value)}
      />
      <input
        required
        aria-label={say.nameModel(of)}
        placeholder={named.placeholder}
        value={model}
        onChange={(event) => setModel(event.target.value)}
      />
      {adapters && (
        <input
          aria-label={say.adapterOnDisk(of)}
          data-tip={say.adapterOnDiskHelp}
          placeholder={say.adapterPath}
          value={adapter}
          onChange={(event) => setAdapter(event.target.value)}
        />
      )}
      <input
        type="password"
        autoComplete="off"
        aria-label={say.key(of)}
        placeholder={say.keyHint}
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <button type="submit" className="button" disabled={locked || asking}>
        {asking ? say.asking : say.connect}
      </button>
    </form>
  );
}
