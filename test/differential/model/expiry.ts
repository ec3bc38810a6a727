export interface TtlSettings {
  readonly enabled: boolean;
  readonly sessionSeconds: number;
  readonly userStateSeconds: number;
  readonly appStateSeconds: number;
  readonly refreshOnRead: boolean;
}

/** Data that can expire; `Infinity` means never. */
export interface Expiring {
  expiresAt: number;
}

export function isAlive({ expiresAt }: Expiring, now: number): boolean {
  return now < expiresAt;
}

export function expiryFrom(now: number, { enabled }: TtlSettings, seconds: number): number {
  return enabled && seconds > 0 ? now + seconds * 1000 : Infinity;
}

/** Renews an expiry of which more than a tenth has passed. */
export function renewIfDue(expiring: Expiring, now: number, ttl: TtlSettings, seconds: number): void {
  if (!ttl.enabled || seconds === 0 || !isAlive(expiring, now)) return;
  const left = expiring.expiresAt - now;
  if (left * 10 < seconds * 1000 * 9) expiring.expiresAt = expiryFrom(now, ttl, seconds);
}
