/** For tests only: a server on a free port that answers as its script says, byte by byte where need be. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Asked {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: { readonly [key: string]: unknown };
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** `script` is called with each request's number, from 0. */
export async function scriptedServer(
  script: (response: ServerResponse, nth: number, asked: Asked) => void | Promise<void>,
): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const one = {
      path: request.url ?? '',
      key: request.headers.authorization,
      body: JSON.parse((await textOf(request)) || '{}'),
    };
    const nth = asked.push(one) - 1;
    await script(response, nth, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += part;
  return text;
}

/** One event of a stream, with the tokens' log-probabilities. */
export function delta(tokens: readonly (readonly [text: string, logprob: number])[]): string {
  const content = tokens.map(([token]) => token).join('');
  const logprobs = {
    content: tokens.map(([token, logprob]) => ({
      token,
      logprob,
      bytes: [...new TextEncoder().encode(token)],
    })),
  };
  return event({ choices: [{ index: 0, delta: { content }, logprobs, finish_reason: null }] });
}

export function finish(reason: string): string {
  return event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
}

export const done = 'data: [DONE]\n\n';

export function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Sends a whole stream. */
export function send(response: ServerResponse, ...parts: readonly string[]): void {
  response.setHeader('content-type', 'text/event-stream');
  response.end(parts.join(''));
}
