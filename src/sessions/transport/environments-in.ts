import type { InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { findEnvironment } from '../service-environment.js';
import type { SessionEnvironment } from '../session-environment.js';
import { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';

/** Those of all services of the app, also of stores with a name. A replacement in a test has none. */
export function environmentsIn(modules: ModuleRef | undefined): SessionEnvironment[] {
  const services = new Set([SessionService, SERVED_SESSIONS].flatMap((token) => findAllProviders(token, modules)));
  return [...services].map(findEnvironment).filter((each) => each !== undefined);
}

/** An app may have none. */
function findAllProviders(token: InjectionToken, modules: ModuleRef | undefined): readonly unknown[] {
  try {
    return modules?.get<unknown>(token, { strict: false, each: true }) ?? [];
  } catch {
    return [];
  }
}
