import { SessionsError } from '../sessions/domain/errors/errors.js';

/**
 * There is no such component state in the session.
 *
 * @example if (error instanceof ComponentNotFoundError) agent.reset();
 */
export class ComponentNotFoundError extends SessionsError {
  readonly code = 'COMPONENT_NOT_FOUND';
  readonly status = 404;

  constructor(
    readonly session: string,
    readonly component?: string,
  ) {
    super(
      component === undefined
        ? `There is no saved state of session ${shown(session)}. Save it first, or use loadIfExists.`
        : `Session ${shown(session)} has no saved state ${shown(component)}. Save it first, or use loadIfExists.`,
    );
  }
}

/**
 * Another writer saved the component after the version that the caller has.
 *
 * @example if (error instanceof ComponentConflictError) state = await components.getVersioned(session, 'agent');
 */
export class ComponentConflictError extends SessionsError {
  readonly code = 'COMPONENT_CONFLICT';
  readonly status = 409;

  constructor(
    readonly session: string,
    readonly component: string,
    readonly expectedVersion: number,
    readonly currentVersion: number,
  ) {
    super(
      `The state ${shown(component)} of session ${shown(session)} is at version ${currentVersion}, not at ` +
        `${expectedVersion}. Load it again, and decide again.`,
    );
  }
}

const LONGEST_SHOWN = 80;

function shown(name: string): string {
  return JSON.stringify(name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name);
}

/**
 * The files of a store cannot be used, or hold what the store did not write. The cause has the error of the file system.
 *
 * @example if (error instanceof ComponentFilesError) logger.error(error.message, error.cause);
 */
export class ComponentFilesError extends SessionsError {
  readonly code = 'STORE_UNAVAILABLE';
  readonly status = 503;

  /** Paths are for operators only. */
  override get publicMessage(): string {
    return 'The files of component state cannot be used.';
  }
}
