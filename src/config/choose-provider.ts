import type { Preset } from './presets.js';
import type { StoreSettings } from './store-settings.js';
import { STORE_VARIABLES, VARIABLES, type Variable, isOurs } from './variables.js';

type Provider = StoreSettings['provider'];

/** The provider that an environment selects. */
export interface ChosenProvider {
  readonly provider: Provider | undefined;
  /** Whether variables select it. Otherwise the preset does. */
  readonly isNamed: boolean;
  readonly problems: readonly string[];
}

/**
 * Selects the given provider, else the store of the SESSIONS_ variables that are set, else that of the preset. Variables
 * of another store are a problem, since they would have no effect.
 */
export function chooseProvider(said: Provider | undefined, set: readonly Variable[], preset: Preset): ChosenProvider {
  const ofStores = set.filter(({ store }) => store !== undefined);
  if (said !== undefined) {
    const astray = ofStores.filter(({ store }) => store !== said);
    return { provider: said, isNamed: true, problems: astray.map((variable) => contradiction(variable, said)) };
  }
  const [first] = ofStores;
  if (first === undefined) return { provider: preset.provider, isNamed: false, problems: [] };
  const other = ofStores.find(({ store }) => store !== first.store);
  return { provider: first.store, isNamed: true, problems: other ? [twoStores(first, other)] : [] };
}

const URLS = { redis: STORE_VARIABLES.redisUrl, typeorm: STORE_VARIABLES.databaseUrl };

/** The shared variables, such as REDIS_HOST, that apply: those of the selected store, unless it has a URL. */
export function sharedVariables(
  { provider, isNamed }: ChosenProvider,
  isSet: (variable: Variable) => boolean,
): readonly Variable[] {
  if (!isNamed || provider === undefined || provider === 'memory' || isSet(URLS[provider])) return [];
  return VARIABLES.filter((variable) => variable.store === provider && !isOurs(variable));
}

function contradiction({ name, store }: Variable, provider: Provider): string {
  return `${name} is for the provider ${store}, but SESSIONS_PROVIDER is ${provider}; take one of the two away.`;
}

function twoStores(first: Variable, other: Variable): string {
  return `${first.name} is for the provider ${first.store}, but ${other.name} for ${other.store}; take one of the two away.`;
}
