import { useState } from 'preact/hooks';
import type { Api } from './api.js';
import { failureOf } from './failures.js';
import { show } from './page-route.js';
import type { SessionLog } from './session-log.js';

/** Appends an event by hand: a text, changes of state, or both. The rule of the routes decides what it may contain. */
export function AppendForm(props: { readonly api: Api; readonly log: SessionLog }) {
  const { api, log } = props;
  const [author, setAuthor] = useState('user');
  const [text, setText] = useState('');
  const [delta, setDelta] = useState('');
  const [problem, setProblem] = useState<string>();
  const append = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem(undefined);
    try {
      const stateDelta = delta.trim() === '' ? undefined : objectOf(delta);
      const role = author === 'user' ? 'user' : 'model';
      await api.client.appendEvent({
        ...log.key,
        event: {
          author,
          ...(text !== '' && { content: { role, parts: [{ text }] } }),
          ...(stateDelta && { actions: { stateDelta } }),
        },
      });
      setText('');
      setDelta('');
      show({ seq: undefined });
    } catch (error) {
      setProblem(failureOf(error).detail);
    }
  };
  return (
    <details class="append">
      <summary>Append an event</summary>
      <form onSubmit={(event) => void append(event)}>
        <label>
          Author
          <input value={author} onInput={(event) => setAuthor(event.currentTarget.value)} />
        </label>
        <label>
          Text
          <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label>
          State to set, as JSON
          <input
            value={delta}
            placeholder='{"user:theme": "dark"}'
            onInput={(event) => setDelta(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={author.trim() === '' || (text === '' && delta.trim() === '')}>
          Append
        </button>
        {problem !== undefined && <p role="alert">{problem}</p>}
      </form>
    </details>
  );
}

function objectOf(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Error('The state to set is not an object of keys and values.');
}
