import { type Finding, checkStore } from '../../doctor/index.js';
import type { DoctorProgress } from '../../doctor/doctor.js';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../failures.js';
import { shown } from '../output.js';

/** Options of `verify`. */
export interface VerifyOptions {
  readonly app?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly repair?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly page?: number | undefined;
  readonly pause?: number | undefined;
}

/** Runs the doctor. Findings are results, and so is the sum at the end. */
export async function verify(context: CommandContext, options: VerifyOptions): Promise<number> {
  const { output, settings, signal } = context;
  const { app: appName, user: userId, session: sessionId, repair, strict, page: pageSize, pause: pauseMs } = options;
  let progress: DoctorProgress = { sessions: 0, events: 0, entries: 0 };
  const sums = { errors: 0, warnings: 0, repaired: 0 };
  const storage = await context.storage();
  const onProgress = (now: DoctorProgress): void => {
    progress = now;
    output.progress(() => `checked ${now.sessions} sessions, ${now.events} events, ${now.entries} entries`);
  };
  const where = { appName, userId, sessionId, repair, pageSize, pauseMs };
  const { ttl, limits } = settings;
  for await (const found of checkStore({ ...where, storage, ttl, limits, signal, onProgress })) {
    if (found.repaired) sums.repaired++;
    else if (found.severity === 'error') sums.errors++;
    else sums.warnings++;
    await output.result(findingLine(found), found);
  }
  const isHealthy = sums.errors === 0 && !(strict && sums.warnings > 0);
  const { sessions, events, entries } = progress;
  const checked = `checked ${sessions} sessions, ${events} events, ${entries} rows and keys of indexes`;
  const result = `${sums.errors} errors, ${sums.warnings} warnings, ${sums.repaired} repaired`;
  await output.result(`${checked}: ${result}`, { isHealthy, ...sums, ...progress });
  return isHealthy ? EXIT.done : EXIT.wrong;
}

function findingLine({ code, severity, appName, userId, sessionId, detail, repaired }: Finding): string {
  const owner = [appName, userId, sessionId].filter((id) => id !== undefined).join(' / ');
  return shown(`${repaired ? 'repaired' : severity}  ${code}  ${owner === '' ? '' : `${owner}: `}${detail}`);
}
