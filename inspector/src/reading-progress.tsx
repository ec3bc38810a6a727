import type { Progress } from './progress.js';

/** Shows how far it is, and offers to give it up. */
export function ReadingProgress(props: { readonly progress: Progress; readonly onCancel: () => void }) {
  const { progress, onCancel } = props;
  const { read, total } = progress;
  return (
    <div class="reading">
      <progress aria-label="Events read" max={Math.max(1, total)} value={read} />
      <span>
        read {read.toLocaleString()} of {total.toLocaleString()} events
      </span>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
