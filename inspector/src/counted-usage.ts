import { useEffect, useState } from 'preact/hooks';
import type { RemoteKey, UsageReport } from '../../src/client/index.js';
import type { Api } from './api.js';
import { type Failure, failureOf } from './failures.js';

/** The sums change with each answer, and are read at most this often. */
const PAUSE_MS = 400;

/** What an app counted for a session, with what it cost by its prices; or why it does not say so. */
export type CountedUsage = { readonly report: UsageReport } | { readonly failure: Failure };

/** Reads the usage of a session anew when its log has grown. A copy of a session has no app to ask. */
export function useCountedUsage(
  api: Api | undefined,
  { appName, userId, sessionId }: RemoteKey,
  lastSeq: number,
): CountedUsage | undefined {
  const [counted, setCounted] = useState<CountedUsage>();
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      const found = await api?.client.getUsage({ appName, userId, sessionId }).then(
        (report) => ({ report }),
        (error: unknown) => ({ failure: failureOf(error) }),
      );
      if (!isOver) setCounted(found);
    };
    const timer = setTimeout(() => void read(), PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [api, appName, userId, sessionId, lastSeq]);
  return counted;
}

/** An amount of millionths, in the currency of the price table. */
export function amountOf(micros: number): string {
  return (micros / 1_000_000).toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 6 });
}

/** The same, short. */
export function roughAmountOf(micros: number): string {
  const amount = micros / 1_000_000;
  if (amount >= 1) return amount.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return amount.toLocaleString(undefined, { maximumSignificantDigits: 2 });
}
