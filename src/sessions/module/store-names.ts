import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../../config/configuration-error.js';
import { STORE_NAME } from './store-providers.js';

/** The names of all `SessionsModule`s of an app. A module that is imported in many places counts once. */
export function storeNamesIn(modules: ModulesContainer): readonly string[] {
  const names = [...modules.values()].map(({ providers }) => providers.get(STORE_NAME)?.instance);
  return names.filter((name) => typeof name === 'string');
}

/** Refuses two modules that some parts of the app would take for one store. */
export function checkStoreNames(modules: ModulesContainer): void {
  const names = storeNamesIn(modules);
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) < index))];
  if (twice.length > 0) throw new ConfigurationError(twice.map(describeRepeatedName));
}

function describeRepeatedName(name: string): string {
  const called = name === '' ? 'without a name' : `with the name ${JSON.stringify(name)}`;
  return [
    `The app has two SessionsModules ${called}, and so two stores that parts of it would take for one.`,
    'For one store, call forRoot once: with isGlobal: true, or import what it returned wherever it is needed.',
    `For two, give the second a name of its own, such as { name: 'archive' }, and inject it by @InjectSessions('archive').`,
  ].join(' ');
}
