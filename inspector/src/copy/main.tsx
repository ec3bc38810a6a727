import '../json-children.js';
import { render } from 'preact';
import { SessionPage } from '../session-page.js';
import { nextTheme, theme } from '../theme.js';
import { exactTime } from '../times.js';
import { CopyReads } from './copy-reads.js';
import type { SessionCopy } from './session-copy.js';

function CopyPage(props: { readonly copy: SessionCopy; readonly reads: CopyReads }) {
  const { copy, reads } = props;
  const { appName, userId, id: sessionId } = copy.session;
  return (
    <>
      <header class="bar">
        <span class="brand">Agent Sessions</span>
        <p class="copy-note">
          A copy of{' '}
          <time dateTime={new Date(copy.madeAt).toISOString()}>
            <b>{exactTime(copy.madeAt)}</b>
          </time>
          , from the app{' '}
          <b>
            <bdi>{appName}</bdi>
          </b>
          . It does not change any more.
          <Left copy={copy} />
        </p>
        <button type="button" onClick={nextTheme}>
          Theme: {theme.value}
        </button>
      </header>
      <div class="page alone">
        <SessionPage reads={reads} sessionKey={{ appName, userId, sessionId }} />
      </div>
    </>
  );
}

/** What was too much for the file. */
function Left({ copy: { count, events, before } }: { readonly copy: SessionCopy }) {
  if (events.length >= count) return undefined;
  return (
    <>
      {' '}
      It has the newest {events.length.toLocaleString()} of {count.toLocaleString()} events: what was before event{' '}
      {before.seq + 1} is not in it.
    </>
  );
}

const root = document.getElementById('inspector');
const copy = JSON.parse(document.getElementById('copy')?.textContent ?? '') as SessionCopy;
document.title = `${copy.session.metadata.title ?? copy.session.id} – Agent Sessions`;
if (root) render(<CopyPage copy={copy} reads={new CopyReads(copy)} />, root);
