import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { savedToken, signIn } from './api.js';
import type { Failure } from './failures.js';

/** A state of the page that is not its content: empty, loading, failed. */
export function Notice(props: {
  readonly title: string;
  readonly role?: 'status' | 'alert';
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="notice" role={props.role ?? 'status'}>
      <strong>{props.title}</strong>
      {props.children}
    </div>
  );
}

export function Loading(props: { readonly what: string }) {
  return (
    <div class="notice loading" role="status">
      Loading {props.what} …
    </div>
  );
}

export function FailureNotice(props: { readonly failure: Failure; readonly onRetry: () => void }) {
  const { failure, onRetry } = props;
  return (
    <Notice title={failure.title} role="alert">
      <p>{failure.detail}</p>
      {failure.kind === 'noAccess' ? (
        <SignIn />
      ) : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </Notice>
  );
}

/** An app with a sign-in keeps the token in a cookie that no script reads; other apps read it from `Authorization`. */
export function SignIn() {
  const [token, setToken] = useState(() => savedToken.read());
  const [problem, setProblem] = useState<string>();
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const credential = token.trim();
    const kept = await signIn(credential);
    if (kept === 'refused') {
      setProblem('The app does not accept it.');
      return;
    }
    savedToken.write(kept === 'cookie' ? '' : credential);
    // All that was refused is asked for again.
    location.reload();
  };
  return (
    <form class="sign-in" onSubmit={(event) => void save(event)}>
      <label>
        Token or API key for the routes of this app
        <input type="password" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
      </label>
      <button type="submit">Try again</button>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </form>
  );
}
