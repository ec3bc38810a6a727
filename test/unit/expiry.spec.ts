import { DEFAULT_TTL } from '../../src/config/session-settings.js';
import { lifetimesOf } from '../../src/sessions/domain/values/expiry.js';
import { expiresAt, isExpired, isRenewalDue } from '../../src/storage.js';

const NOW = Date.UTC(2026, 0, 1);

function isDueAfter(seconds: number, passedMs: number): boolean {
  const { session } = lifetimesOf({ ...DEFAULT_TTL, enabled: true, sessionSeconds: seconds });
  return isRenewalDue(expiresAt(NOW, session), NOW + passedMs, session);
}

describe('a session lifetime', () => {
  it('is renewed when a tenth of it has passed', () => {
    expect(isDueAfter(10, 1_000)).toBe(false);
    expect(isDueAfter(10, 1_001)).toBe(true);
    expect(isDueAfter(10, 10_000)).toBe(false);
  });

  it.each([0, 8.64e12, 1e14, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE])('of %d seconds never ends', (seconds) => {
    const { session } = lifetimesOf({ ...DEFAULT_TTL, enabled: true, sessionSeconds: seconds });
    expect(isExpired(expiresAt(NOW, session), Date.UTC(9999, 0, 1))).toBe(false);
    expect(isDueAfter(seconds, 0)).toBe(false);
    expect(isDueAfter(seconds, 1e12)).toBe(false);
  });
});
