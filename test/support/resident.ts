import { readFile } from 'node:fs/promises'

/** The memory that a process holds now. */
export async function residentBytes({ process: { pid } }: { readonly process: { readonly pid?: number | undefined } }): Promise<number> {
  const [, pages = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')
  return Number(pages) * 4096
}
