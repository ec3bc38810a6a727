import type { RequestText as Text } from '../../src/sessions/domain/event/request-report.js';

/** Instructions or tools, if the reader may see them. */
export function RequestText({ title, text }: { readonly title: string; readonly text: Text | undefined }) {
  if (!text) {
    return <p class="hint">{title}: none were written down.</p>;
  }
  const { hash, isKept, value } = text;
  return (
    <details>
      <summary>{title}</summary>
      <p class="hint">
        SHA-256 <code>{hash}</code>
      </p>
      {value === undefined ? (
        <p>
          {isKept
            ? 'The access rule of the app does not let you see them (allowsPrompts).'
            : 'The store has only their hash: they were too long, or history.keepPrompts is false.'}
        </p>
      ) : (
        <pre tabIndex={0} aria-label={title} role="region">
          {typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}
        </pre>
      )}
    </details>
  );
}
