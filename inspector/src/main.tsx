import './random-id.js';
import './json-children.js';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PageConfig } from '../../src/inspector/page-config.js';
import { Api, readConfig, savedToken, signOut } from './api.js';
import { type Failure, failureOf } from './failures.js';
import { FailureNotice, Loading, Notice } from './notices.js';
import { NO_PLACE, type PageRoute, addressOf, route, show } from './page-route.js';
import { SessionListPanel } from './session-list-panel.js';
import { SessionPage } from './session-page.js';
import { nextTheme, theme } from './theme.js';
import { Welcome } from './welcome.js';

const TICK_MS = 10_000;
/** How often it is asked whether there is a first session. */
const FIRST_SESSION_MS = 3_000;
const NO_APPS: readonly string[] = [];

function Inspector() {
  const [api, setApi] = useState<Api>();
  const [apps, setApps] = useState<readonly string[]>();
  const [failure, setFailure] = useState<Failure>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const open = async (): Promise<void> => {
      const opened = api ?? new Api(await readConfig());
      const found = await opened.apps();
      setApps(found);
      setApi(opened);
      setFailure(undefined);
      if (route.value.app === undefined && found?.[0] !== undefined) show({ app: found[0] }, { replace: true });
    };
    open().catch((error: unknown) => setFailure(failureOf(error)));
  }, [tries]);
  const leave = async (config: PageConfig): Promise<void> => {
    try {
      await signOut(config);
      // Nothing that was read stays in the page.
      location.reload();
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  const isEmpty = apps?.length === 0;
  useEffect(() => {
    if (!isEmpty) return undefined;
    // The first session may come from elsewhere.
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setTries((before) => before + 1);
    }, FIRST_SESSION_MS);
    return () => clearInterval(timer);
  }, [isEmpty]);
  const now = useNow();
  const { app, userId, sessionId } = route.value;
  const again = (): void => setTries(tries + 1);
  return (
    <>
      <Bar
        apps={apps ?? NO_APPS}
        onSignOut={api && isSignedIn(api.config) ? () => void leave(api.config) : undefined}
      />
      <div class="page">
        {failure && <FailureNotice failure={failure} onRetry={again} />}
        {!api && !failure && <Loading what="the inspector" />}
        {api && app !== undefined && <SessionListPanel api={api} now={now} />}
        {api && app !== undefined && userId !== undefined && sessionId !== undefined ? (
          <SessionPage
            key={JSON.stringify([app, userId, sessionId])}
            reads={api.client}
            api={api}
            sessionKey={{ appName: app, userId, sessionId }}
          />
        ) : (
          api && (
            <main>
              {app === undefined ? <Welcome api={api} mayList={apps !== undefined} onDone={again} /> : <Choose />}
            </main>
          )
        )}
      </div>
    </>
  );
}

function Choose() {
  return <Notice title="Choose a session on the left" />;
}

/** The list without a session. */
function listOnly(): PageRoute {
  return { ...route.value, userId: undefined, sessionId: undefined, ...NO_PLACE };
}

function chooseApp(name: string): void {
  show({ app: name, userId: undefined, sessionId: undefined, search: undefined, ...NO_PLACE });
}

function isSignedIn(config: PageConfig): boolean {
  return config.isSignedIn === true || savedToken.read() !== '';
}

function Bar(props: { readonly apps: readonly string[]; readonly onSignOut: (() => void) | undefined }) {
  const { app = '' } = route.value;
  const names = props.apps.includes(app) || app === '' ? props.apps : [app, ...props.apps];
  return (
    <header class="bar">
      <a href={addressOf(listOnly())} class="brand">
        Agent Sessions
      </a>
      <label>
        App{' '}
        <input
          list="apps"
          value={app}
          placeholder="name of an app"
          onChange={(event) => chooseApp(event.currentTarget.value.trim())}
        />
        <datalist id="apps">
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      <button type="button" onClick={nextTheme}>
        Theme: {theme.value}
      </button>
      {props.onSignOut && (
        <button type="button" onClick={props.onSignOut}>
          Sign out
        </button>
      )}
    </header>
  );
}

/** The time, for "3 minutes ago". */
function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const root = document.getElementById('inspector');
if (root) render(<Inspector />, root);
