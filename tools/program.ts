import type { Command } from 'commander'
import { createProgram } from '../src/cli/program.ts'
import { addMakersRelease } from './commands/release.ts'

/** The command line of a checkout: that of the product, and the commands that make releases. */
export const createMakersProgram = (): Command =>
  createProgram((program) => {
    const release = program.commands.find((command) => command.name() === 'release')
    if (release !== undefined) addMakersRelease(release)
  })
