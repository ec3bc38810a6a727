import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { savedToken } from './api.js';
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

/** Apps that read a token from `Authorization` get it from here. Those with cookies need nothing. */
export function SignIn() {
  const [token, setToken] = useState(() => savedToken.read());
  const save = (event: Event): void => {
    event.preventDefault();
    savedToken.write(token.trim());
    // All that was refused is asked for again.
    location.reload();
  };
  return (
    <form class="sign-in" onSubmit={save}>
      <label>
        Token for the routes of this app (kept in this tab only)
        <input type="password" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
      </label>
      <button type="submit">Try again</button>
    </form>
  );
}
