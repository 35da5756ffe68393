import { findProjectPath } from '../../app/database/project-path.ts'
import { CommandError } from '../failure.ts'

/** Returns the folder of the catalogue that the installation brings. */
export function installedPrices(): string {
  const folder = findProjectPath('assets/prices')
  if (folder === null) throw new CommandError('the installation is not complete: assets/prices is missing')
  return folder
}
