import type { StoreSettings } from './store-settings.js';

/** What holds in an environment unless something else is said. */
export interface Preset {
  readonly provider?: StoreSettings['provider'];
  readonly databaseUrl?: string;
}

/** In production nothing is taken for granted: sessions that nobody chose a place for would be lost. */
export const PRESETS: Readonly<Record<'development' | 'test' | 'production', Preset>> = {
  development: { provider: 'typeorm', databaseUrl: 'sqlite:./data/sessions.db' },
  test: { provider: 'memory' },
  production: {},
};

export type PresetName = keyof typeof PRESETS;

export function presetFor(nodeEnv: string | undefined): PresetName {
  return nodeEnv === 'production' || nodeEnv === 'test' ? nodeEnv : 'development';
}

/** What SESSIONS_PRESET says, and NODE_ENV where it says nothing. Asked late: a file of variables is loaded by then. */
export function isProduction(env: NodeJS.ProcessEnv): boolean {
  return (env.SESSIONS_PRESET?.trim() || presetFor(env.NODE_ENV)) === 'production';
}
