import { useState } from 'preact/hooks';
import type { RemoteKey } from '../../src/client/index.js';
import type { Api } from './api.js';
import { failureOf } from './failures.js';
import { noteGone } from './gone-sessions.js';
import { NO_PLACE, show } from './page-route.js';
import type { SessionLog } from './session-log.js';
import { Share } from './share.js';

interface Props {
  readonly api: Api;
  readonly sessionKey: RemoteKey;
}

/** Sends a message to the agent of the app. Its answer comes into the timeline. */
export function Composer(props: Props) {
  const { api, sessionKey } = props;
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    setProblem(undefined);
    try {
      await act();
    } catch (error) {
      setProblem(failureOf(error).detail);
    }
  };
  const send = (event: Event): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    setText('');
    show({ seq: undefined });
    void attempt(async () => {
      try {
        await api.client.runAgent({ ...sessionKey, newMessage: text });
      } catch (error) {
        // What was not taken can be sent again. The others are in the log.
        if (failureOf(error).kind !== 'failed') setText((now) => (now === '' ? text : now));
        throw error;
      }
    });
  };
  return (
    <form class="composer" onSubmit={send}>
      <input
        aria-label="Message to the agent"
        placeholder="Message to the agent"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Send
      </button>
      <button type="button" onClick={() => void attempt(() => api.client.stopAgent({ ...sessionKey }))}>
        Stop
      </button>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </form>
  );
}

/** What may be done with a session at a moment. Each asks first where something is lost. */
export function SessionActions(props: {
  readonly api: Api;
  readonly log: SessionLog;
  readonly seq: number;
  readonly isNewest: boolean;
}) {
  const { api, log, seq, isNewest } = props;
  const sessionKey = log.key;
  const [said, setSaid] = useState<string>();
  const act = (what: string, question: string | undefined, work: () => Promise<unknown>) => async (): Promise<void> => {
    if (question !== undefined && !confirm(question)) return;
    setSaid(`${what} …`);
    try {
      await work();
      setSaid(undefined);
    } catch (error) {
      setSaid(`${what}: ${failureOf(error).detail}`);
    }
  };
  const rewind = act('Rewind', `Take the session back to the moment after event ${seq}?`, async () => {
    await api.client.rewindSession({ ...sessionKey, toSeq: seq });
    show({ seq: undefined });
  });
  const fork = act('Fork', undefined, async () => {
    const { id } = await api.client.forkSession({ ...sessionKey, atSeq: seq });
    show({ sessionId: id, ...NO_PLACE });
  });
  const summarise = act('Summarise', undefined, () => api.client.createSummary({ ...sessionKey, force: true }));
  const remove = act('Delete', 'Delete this session and all its events? This cannot be undone.', async () => {
    // What is gone is not asked for any more.
    await log.close();
    await api.settled();
    try {
      await api.client.deleteSession(sessionKey);
      noteGone(sessionKey);
    } catch (error) {
      log.open();
      throw error;
    }
    show({ sessionId: undefined, userId: undefined, ...NO_PLACE });
  });
  return (
    <div class="buttons">
      {api.may('rewind') && (
        <button type="button" disabled={isNewest} onClick={() => void rewind()}>
          Rewind to here
        </button>
      )}
      {api.may('fork') && (
        <button type="button" onClick={() => void fork()}>
          Fork from here
        </button>
      )}
      {api.may('summarise') && (
        <button type="button" onClick={() => void summarise()}>
          Summarise
        </button>
      )}
      <Share reads={api.client} sessionKey={sessionKey} />
      {api.may('delete') && (
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete
        </button>
      )}
      {said !== undefined && <span role="status">{said}</span>}
    </div>
  );
}
