import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOf } from './failures.js';
import { FailureNotice, Loading } from './notices.js';

/**
 * A part of the page whose code is loaded when it is first shown.
 *
 * @param what it is, in words for those who wait
 */
export function later<Props extends object>(
  what: string,
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => preact.JSX.Element {
  let loaded: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [failure, setFailure] = useState<Failure>();
    const [tries, setTries] = useState(0);
    useEffect(() => {
      if (loaded) return;
      void load().then(
        (component) => {
          loaded = component;
          setFailure(undefined);
          setTries((before) => before + 1);
        },
        (error: unknown) => setFailure(failureOf(error)),
      );
    }, [failure === undefined, tries]);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    // A browser does not ask again for a script that it did not get.
    return failure ? <FailureNotice failure={failure} onRetry={() => location.reload()} /> : <Loading what={what} />;
  };
}
