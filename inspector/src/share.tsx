import { useEffect, useRef, useState } from 'preact/hooks';
import type { RemoteKey } from '../../src/client/index.js';
import type { CopyFile } from './copy/copy-file.js';
import { failureOf } from './failures.js';
import type { Progress } from './progress.js';
import { ReadingProgress } from './reading-progress.js';
import type { SessionReads } from './session-reads.js';

/** How long a browser may take to begin with a download. */
const DOWNLOAD_MS = 60_000;

/** Saves the session as a file that shows it without a server. */
export function Share(props: { readonly reads: SessionReads; readonly sessionKey: RemoteKey }) {
  const { reads, sessionKey } = props;
  const [progress, setProgress] = useState<Progress>();
  const [said, setSaid] = useState<string>();
  const work = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => work.current?.abort(), []);
  const share = async (): Promise<void> => {
    const { signal } = (work.current = new AbortController());
    setSaid(undefined);
    setProgress({ read: 0, total: 0 });
    try {
      const { copyFile } = await import('./copy/copy-file.js');
      const onProgress = (now: Progress): void => {
        if (!signal.aborted) setProgress(now);
      };
      const file = await copyFile(reads, sessionKey, { signal, onProgress });
      if (signal.aborted) return;
      save(file);
      setSaid(`Saved as ${file.name}`);
    } catch (error) {
      // What was given up need not succeed.
      if (signal.aborted) return;
      setSaid(`Share: ${failureOf(error).detail}`);
    }
    setProgress(undefined);
  };
  const cancel = (): void => {
    work.current?.abort();
    setProgress(undefined);
  };
  return (
    <>
      {progress ? (
        <ReadingProgress progress={progress} onCancel={cancel} />
      ) : (
        <button type="button" title="Save as one file that shows this session anywhere" onClick={() => void share()}>
          Share
        </button>
      )}
      {said !== undefined && (
        <span role="status">
          <bdi>{said}</bdi>
        </span>
      )}
    </>
  );
}

function save({ name, parts }: CopyFile): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: 'text/html' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_MS);
}
