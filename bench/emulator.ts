// The scripted provider as a process of its own, without recording.
import { startEmulator } from '../test/support/emulator/emulator.ts'

const emulator = await startEmulator({ record: false })
process.send?.({ port: emulator.port })
process.once('disconnect', () => process.exit(0))
