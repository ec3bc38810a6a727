import { ConfigurationError } from '../config/configuration-error.js';
import { problemsOfOptions } from '../config/option-checks.js';
import { type Setting, type SettingsOf, callable, flag, kindOf, text } from '../config/setting.js';
import { requireOptions } from '../sessions/domain/values/given-options.js';
import type { SessionLinks } from '../sessions/transport/session-links.js';
import { hashOf } from './page-address.js';
import { INSPECTOR_ACTIONS, type InspectorAction } from './page-config.js';
import { findTraceUrlProblem } from './trace-links.js';

/** What the page of the inspector shows, and to whom. */
export interface InspectorOptions {
  /** The path of `SessionsRestModule`, if it has one: the page reads and writes through its routes, and their rule decides. */
  readonly api?: string | undefined;
  /** What the page offers to do: `true` for all, or a list. The rule of the routes still decides about each. Default: nothing. */
  readonly actions?: boolean | readonly InspectorAction[] | undefined;
  /** Whether the page can search in the sessions of a user. Needs `SearchRestModule`. Default: false. */
  readonly search?: boolean | undefined;
  /** Who may open the page. It holds no session, so without this everybody may who reaches it. Only `true` and `false` are answers. */
  readonly access?: ((request: never) => boolean | Promise<boolean>) | undefined;
  /** An app with an agent that those may talk to who have no sessions yet. */
  readonly demoApp?: string | undefined;
  /** The whole address of the page, as its readers have it: then logs and problem bodies about a session link to it. */
  readonly publicUrl?: string | undefined;
  /**
   * Where the traces of a session are, in the page of your collector: an address with `{sessionId}` or `{invocationId}`, and `{appName}` if it
   * needs that. With `{invocationId}` each turn has a link, otherwise the session has one.
   */
  readonly traceUrl?: string | undefined;
}

/** Where the page is, and what it shows. */
export interface InspectorModuleOptions extends InspectorOptions {
  /** The path of the page. Default: `inspector`. */
  readonly route?: string | undefined;
}

export const INSPECTOR_OPTIONS = Symbol('INSPECTOR_OPTIONS');
export const INSPECTOR_ROUTE = Symbol('INSPECTOR_ROUTE');

/** The rest is checked where it is read. */
export const INSPECTOR_KINDS: SettingsOf<InspectorOptions> = {
  api: { kind: text },
  actions: { kind: kindOf('true, false or a list', (value) => typeof value === 'boolean' || Array.isArray(value)) },
  search: { kind: flag },
  access: { kind: callable },
  demoApp: { kind: text },
  publicUrl: { kind: text },
  traceUrl: { kind: text },
};

/** Names each option that would be without effect. */
export function checkKinds(options: object, known: Readonly<Record<string, Setting>>): void {
  const problems = problemsOfOptions(options, known);
  if (problems.length > 0) {
    throw new ConfigurationError(problems.map((problem) => `SessionsInspectorModule: ${problem}`));
  }
}

export function checkedOptions(options: InspectorOptions): InspectorOptions {
  checkKinds(requireOptions('SessionsInspectorModule', options), INSPECTOR_KINDS);
  const wrong = actionsOf(options).find((name) => !INSPECTOR_ACTIONS.includes(name));
  if (wrong !== undefined) {
    throw new ConfigurationError([
      `SessionsInspectorModule has no action ${JSON.stringify(wrong)}: it has ${INSPECTOR_ACTIONS.join(', ')}.`,
    ]);
  }
  const { publicUrl, traceUrl } = options;
  const problem = traceUrl === undefined ? undefined : findTraceUrlProblem(traceUrl);
  if (problem !== undefined) throw new ConfigurationError([`SessionsInspectorModule: traceUrl ${problem}.`]);
  if (publicUrl !== undefined && !isWebAddress(publicUrl)) {
    throw new ConfigurationError([
      `SessionsInspectorModule: publicUrl must be an address such as "https://example.com/inspector", not ${JSON.stringify(publicUrl)}.`,
    ]);
  }
  return options;
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Links to sessions on the page, if its address is known. */
export function linksOf({ publicUrl }: InspectorOptions): SessionLinks | undefined {
  if (publicUrl === undefined) return undefined;
  const [page = ''] = publicUrl.split('#');
  return { linkTo: ({ appName, userId, sessionId }) => page + hashOf({ app: appName, userId, sessionId }) };
}

/** All actions that the page offers. */
export function actionsOf({ actions = false }: InspectorOptions): readonly InspectorAction[] {
  if (typeof actions !== 'boolean') return actions;
  return actions ? INSPECTOR_ACTIONS : [];
}

/** Without slashes around it. An empty path has no place for the files of the page. */
export function checkedRoute(route = 'inspector'): string {
  const path = route.replace(/^\/+|\/+$/g, '');
  if (/^[\w.~-]+(\/[\w.~-]+)*$/.test(path)) return path;
  throw new ConfigurationError([
    `SessionsInspectorModule: route must be a path such as "inspector", not ${JSON.stringify(route)}.`,
  ]);
}
