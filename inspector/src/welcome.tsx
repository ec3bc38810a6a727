import { useState } from 'preact/hooks';
import type { Api } from './api.js';
import { failureOf } from './failures.js';
import { SignIn } from './notices.js';
import { show } from './page-route.js';

const CODE = `const sessions = app.get(SessionService);
const session = await sessions.createSession({ appName: 'shop', userId: 'ann' });
await sessions.appendEvent({ session, event: { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } } });`;

/** The first visit: nothing is stored yet, or the apps may not be listed. */
export function Welcome(props: {
  readonly api: Api;
  /** Whether the routes list the apps to this reader. */
  readonly mayList: boolean;
  readonly onDone: () => void;
}) {
  const { api, mayList, onDone } = props;
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
  if (!mayList) {
    return (
      <section class="welcome">
        <h1>Which app?</h1>
        <p>You may not list the apps. Type the name of one above, or sign in with another token.</p>
        <SignIn />
      </section>
    );
  }
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
      <p class="hint">
        If your app has sessions that you may not list, type its name above, and your user id into the filter.
      </p>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </section>
  );
}
