import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { DistributionFault } from '../fault.ts'

/** The name of a part, from 1 on. */
export const partName = (file: string, number: number): string => `${file}.${String(number).padStart(3, '0')}`

const ending = /\.\d{3,}$/

/** The files of an archive: itself, or its parts in order, of which any may be named. Throws DistributionFault. */
export function partsOf(file: string): readonly string[] {
  if (isFolder(file)) throw new DistributionFault('archive_malformed', `${file} is a folder: name the archive itself`)
  const whole = file.replace(ending, '')
  const parts = partsBeside(whole)
  // An archive may have a name that looks like that of a part.
  if (existsSync(file) && (whole === file || (parts.size === 1 && !parts.has(1)))) return [file]
  if (parts.size === 0) throw new DistributionFault('file_missing', `there is no ${file}, and no ${partName(whole, 1)}`)
  const all = Array.from({ length: Math.max(...parts.keys()) }, (_, at) => at + 1)
  const gap = all.find((number) => !parts.has(number))
  if (gap !== undefined)
    throw new DistributionFault('file_missing', `there is no ${partName(whole, gap)}, but there is ${partName(whole, all.length)}`)
  return all.map((number) => partName(whole, number))
}

/** Refuses to write an archive where no folder is, or where one is, whole or in parts: old parts beside new ones could be taken for theirs. */
export function refuseTarget(file: string): void {
  if (!isFolder(path.dirname(file))) throw new DistributionFault('file_missing', `there is no folder ${path.dirname(file)} to write to`)
  const [found] = existsSync(file) ? [file] : partsBeside(file).values()
  if (found !== undefined) throw new DistributionFault('file_exists', `${found} is there already: name another file, or remove it`)
}

const isFolder = (name: string) => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true

/** The parts of an archive that are there, by their numbers. */
function partsBeside(whole: string): ReadonlyMap<number, string> {
  const folder = path.dirname(whole)
  const names = isFolder(folder) ? readdirSync(folder) : []
  const numbers = names.filter((name) => name.replace(ending, '') === path.basename(whole) && ending.test(name))
  return new Map(
    numbers.map((name) => [Number(path.extname(name).slice(1)), path.join(folder, name)] as const).filter(([number]) => number > 0),
  )
}
