import { useState } from 'preact/hooks';
import type { Api } from './api.js';
import { failureOf } from './failures.js';
import { show } from './page-route.js';

const CODE = `const sessions = app.get(SessionService);
const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } } });`;

/** The first visit: nothing is stored yet, or the apps may not be listed. */
export function Welcome(props: { readonly api: Api; readonly onDone: () => void }) {
  const { api, onDone } = props;
  const { demoApp } = api.config;
  const [problem, setProblem] = useState<string>();
  const talk = async (appName: string): Promise<void> => {
    try {
      const { id: sessionId } = await api.client.createSession({ appName, userId: 'ann' });
      const key = { appName, userId: 'ann', sessionId };
      show({ app: appName, userId: key.userId, sessionId: key.sessionId });
      onDone();
      await api.client.runAgent({ ...key, newMessage: 'My name is Ann' });
    } catch (error) {
      setProblem(failureOf(error).detail);
    }
  };
  return (
    <section class="welcome">
      <h1>No sessions yet</h1>
      {demoApp !== undefined && api.may('message') && (
        <p>
          <button type="button" class="primary" onClick={() => void talk(demoApp)}>
            Talk to the demo agent
          </button>
        </p>
      )}
      <p>Or write three lines in your app:</p>
      <pre tabIndex={0}>{CODE}</pre>
      <p class="hint">If your app has sessions, but you may not list its apps, type the name of the app above.</p>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </section>
  );
}
