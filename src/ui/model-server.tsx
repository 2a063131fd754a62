/** A model behind an OpenAI-compatible server: its address, its name there, a key for this session. */

import { useState } from 'react';
import { DEFAULT_TIMEOUT_SECONDS } from '../formats/channel.ts';
import { connectModel } from './load.ts';
import './model-server.css';

export function ModelServer({ locked }: { locked: boolean }) {
  const [baseUrl, setBaseUrl] = useState('');
  const [model, setModel] = useState('');
  const [key, setKey] = useState('');
  const [asking, setAsking] = useState(false);
  const connect = async () => {
    setAsking(true);
    const apiKey = key.trim() === '' ? null : key.trim();
    const ref = { baseUrl: baseUrl.trim(), model: model.trim(), apiKey };
    await connectModel({ ...ref, timeout: DEFAULT_TIMEOUT_SECONDS });
    setAsking(false);
  };
  return (
    <details className="change">
      <summary>Model on a server</summary>
      <p className="aside">
        llama-server, vLLM or another OpenAI-compatible server with log-probabilities acts; its
        weights cannot be trained from here. The key is kept for this session only.
      </p>
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
          aria-label="Address of the server"
          placeholder="http://127.0.0.1:8080"
          value={baseUrl}
          onChange={(event) => setBaseUrl(event.target.value)}
        />
        <input
          required
          aria-label="Name of the model on the server"
          placeholder="model or adapter name"
          value={model}
          onChange={(event) => setModel(event.target.value)}
        />
        <input
          type="password"
          autoComplete="off"
          aria-label="Key of the server"
          placeholder="key, where it wants one"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <button type="submit" className="button" disabled={locked || asking}>
          {asking ? 'Asking…' : 'Connect'}
        </button>
      </form>
    </details>
  );
}
