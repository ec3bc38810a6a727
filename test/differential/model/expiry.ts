export interface TtlSettings {
  readonly enabled: boolean;
  readonly sessionSeconds: number;
  readonly userStateSeconds: number;
  readonly appStateSeconds: number;
  readonly refreshOnRead: boolean;
}

/** Something that may come to an end; `Infinity` where it does not. */
export interface Lasting {
  expiresAt: number;
}

export function isAlive({ expiresAt }: Lasting, now: number): boolean {
  return now < expiresAt;
}

export function expiryFrom(now: number, { enabled }: TtlSettings, seconds: number): number {
  return enabled && seconds > 0 ? now + seconds * 1000 : Infinity;
}

/** Renews what has used up more than a tenth of its life. */
export function renewIfDue(lasting: Lasting, now: number, ttl: TtlSettings, seconds: number): void {
  if (!ttl.enabled || seconds === 0 || !isAlive(lasting, now)) return;
  const left = lasting.expiresAt - now;
  if (left * 10 < seconds * 1000 * 9) lasting.expiresAt = expiryFrom(now, ttl, seconds);
}
