import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import { Notice } from './notices.js';

/** The chosen event as it is stored. */
export function EventPanel(props: { readonly event: LoggedEvent | undefined }) {
  const { event } = props;
  if (!event) return <Notice title="Choose an event to see all of it" />;
  const text = JSON.stringify(event, undefined, 2);
  return (
    <div class="raw">
      {'clipboard' in navigator && (
        <button type="button" onClick={() => void navigator.clipboard.writeText(text)}>
          Copy
        </button>
      )}
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
