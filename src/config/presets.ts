import type { StoreSettings } from './store-settings.js';

/** The defaults of an environment. */
export interface Preset {
  readonly provider?: StoreSettings['provider'];
  readonly databaseUrl?: string;
}

/** In production there is no default store, since sessions in memory would be lost. */
export const PRESETS: Readonly<Record<'development' | 'test' | 'production', Preset>> = {
  development: { provider: 'typeorm', databaseUrl: 'sqlite:./data/sessions.db' },
  test: { provider: 'memory' },
  production: {},
};

export type PresetName = keyof typeof PRESETS;

export function presetFor(nodeEnv: string | undefined): PresetName {
  return nodeEnv === 'production' || nodeEnv === 'test' ? nodeEnv : 'development';
}

/** The preset of SESSIONS_PRESET, else of NODE_ENV. Evaluated late, after a file of variables is loaded. */
export function isProduction(env: NodeJS.ProcessEnv): boolean {
  return (env.SESSIONS_PRESET?.trim() || presetFor(env.NODE_ENV)) === 'production';
}
