import type { Preset } from './presets.js';
import type { StoreSettings } from './store-settings.js';
import { STORE_VARIABLES, VARIABLES, type Variable, isOurs } from './variables.js';

type Provider = StoreSettings['provider'];

/** Which store an environment asks for. */
export interface ChosenProvider {
  readonly provider: Provider | undefined;
  /** Whether the environment says so itself; else it is by the preset. */
  readonly isNamed: boolean;
  readonly problems: readonly string[];
}

/**
 * Takes the provider that is said, else the store that the variables of ours that are set belong to, else that of
 * the preset. Variables of another store are a mistake: whoever set them expects them to count.
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

/** The variables that others use as well and that count here: of the store that is named, unless it has a URL. */
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
