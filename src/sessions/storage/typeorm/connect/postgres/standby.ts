import { findDriverErrorCode } from '../driver-errors.js';

/** Other servers that are read-only refuse writes with this code. */
export const READ_ONLY = '25006';

/** A standby refuses `BEGIN … READ WRITE` as something it has no support for (0A000). */
export async function namingStandby<Result>(beginning: Promise<Result>): Promise<Result> {
  try {
    return await beginning;
  } catch (error) {
    if (findDriverErrorCode(error) !== '0A000') throw error;
    throw Object.assign(new Error('The server is a standby'), { code: READ_ONLY });
  }
}
