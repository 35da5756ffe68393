import type { WatchedFile, WatchedForm } from './form-watch.ts'

/** The beginning of a file, the held part of its end, and its length. */
type File = Pick<WatchedFile, 'head' | 'tail' | 'size'>

/** The field of the recording at all providers; a form without it may name it otherwise. */
const recordingField = 'file'

/**
 * Returns the length of the recording in a form in whole milliseconds; null: it is not known. The longest of several counts, because a provider may read any. Providers charge for it also where their answer has no usage.
 */
export function recordedMs({ files }: WatchedForm): number | null {
  if (files === null || files.length === 0) return null
  const named = files.filter(({ name }) => name === recordingField)
  const lengths = (named.length > 0 ? named : files).map(msOf)
  return lengths.includes(null) ? null : Math.max(...lengths.map((ms) => ms ?? 0))
}

/** Speech has at least so many bytes for each millisecond, 6 kbit/s, where it is not silent. */
export const fewestBytesPerMs = 0.75

/** Returns the most that the recording of a form may last, whatever the head of a file says; null: there may be one that is not seen. */
export function mostRecordedMs({ files }: WatchedForm): number | null {
  if (files === null || files.length === 0) return null
  return Math.ceil(Math.max(...files.map(mostMsOf)))
}

/** All samples of a WAV file have the same number of bytes. */
function mostMsOf(file: File): number {
  const ms = msOf(file) ?? 0
  return ms > 0 && file.head.toString('latin1', 0, 4) === 'RIFF' ? ms : Math.max(ms, file.size / fewestBytesPerMs)
}

/** Returns the length of a file from its container, and never less than so many bytes can hold; null: it has none. */
function msOf(file: File): number | null {
  const container = containers.find(({ magic, at }) => file.head.subarray(at, at + magic.length).equals(magic)) ?? mp3
  try {
    const told = container.read(file)
    const ms = told === null ? null : Math.max(told, (file.size * 8) / container.mostKilobits(file))
    return ms !== null && ms >= 1 && ms < longestMs ? Math.round(ms) : null
  } catch {
    // It ends before the length in its own header.
    return null
  }
}

const longestMs = 7 * 24 * 3_600_000

interface Container {
  readonly magic: Buffer
  readonly at: number
  readonly read: (file: File) => number | null
  /** Returns the most kilobits that a second of it has: a head may be false. */
  readonly mostKilobits: (file: File) => number
}

/** Samples of 32 bits at 192 kHz in eight channels. */
const ofSamples = () => 49_152
/** Opus has at most 510 kbit/s, and so have Vorbis and AAC for a listener. */
const ofSpeech = () => 512
/** Pictures that move take more than sound. */
const ofPictures = 100_000
const holding = (mark: RegExp) => (file: File) =>
  mark.test(file.head.toString('latin1')) || mark.test(file.tail.toString('latin1')) ? ofPictures : ofSpeech()

const containers: readonly Container[] = [
  { magic: Buffer.from('RIFF'), at: 0, read: wavMs, mostKilobits: ofSamples },
  { magic: Buffer.from('fLaC'), at: 0, read: flacMs, mostKilobits: flacKilobits },
  { magic: Buffer.from('OggS'), at: 0, read: oggMs, mostKilobits: ofSpeech },
  { magic: Buffer.from('ftyp'), at: 4, read: mp4Ms, mostKilobits: holding(/vide|alac/) },
  { magic: Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), at: 0, read: webmMs, mostKilobits: holding(/V_|A_(?!OPUS|VORBIS)/) },
]
const mp3: Container = { magic: Buffer.alloc(0), at: 0, read: mp3Ms, mostKilobits: () => 320 }

/** The bits of a sample by the format of a WAV file; 0: the number in its head. */
const sampleBits: Readonly<Record<number, number>> = { 1: 0, 3: 0, 0xfffe: 0, 6: 8, 7: 8, 2: 4, 0x11: 4 }

/** A WAV file is as long as its samples are many. Its rate in bytes and its number of samples do not count: all that follows may be samples. */
function wavMs({ head, size }: File): number | null {
  let bits = 0
  for (let at = 12; at + 8 <= head.length;) {
    const name = head.toString('latin1', at, at + 4)
    const length = head.readUInt32LE(at + 4)
    if (name === 'fmt ' && at + 24 <= head.length) {
      const known = sampleBits[head.readUInt16LE(at + 8)]
      if (known === undefined) return null
      bits = head.readUInt16LE(at + 10) * head.readUInt32LE(at + 12) * (known === 0 ? head.readUInt16LE(at + 22) : known)
    }
    if (name === 'data') return bits === 0 ? null : ((size - at - 8) * 8000) / bits
    at += 8 + length + (length % 2)
  }
  return null
}

/** Samples are never longer than those that are not compressed. */
function flacKilobits({ head }: File): number {
  const [rate, rest] = [head.readUIntBE(18, 3) >> 4, head.readUInt16BE(20)]
  return (rate * (((rest >> 9) & 7) + 1) * (((rest >> 4) & 31) + 1)) / 1000
}

function flacMs({ head }: File): number | null {
  if (head.length < 26) return null
  const rate = head.readUIntBE(18, 3) >> 4
  return (((head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22)) / rate) * 1000
}

/** The last page states the number of samples. */
function oggMs({ head, tail }: File): number | null {
  const opus = head.indexOf('OpusHead')
  const vorbis = head.indexOf('\u0001vorbis', 0, 'latin1')
  const last = tail.lastIndexOf('OggS')
  if (last === -1 || last + 14 > tail.length) return null
  const samples = Number(tail.readBigInt64LE(last + 6))
  if (opus !== -1) return (samples - head.readUInt16LE(opus + 10)) / 48
  return vorbis === -1 ? null : (samples / head.readUInt32LE(vorbis + 12)) * 1000
}

/** The movie header stands at the beginning, or at the end of files that were written as they were recorded. */
function mp4Ms({ head, tail }: File): number | null {
  for (const bytes of [head, tail]) {
    const at = bytes.indexOf('mvhd')
    if (at === -1 || at + 36 > bytes.length) continue
    return bytes.readUInt8(at + 4) === 1
      ? (Number(bytes.readBigUInt64BE(at + 28)) / bytes.readUInt32BE(at + 24)) * 1000
      : (bytes.readUInt32BE(at + 20) / bytes.readUInt32BE(at + 16)) * 1000
  }
  return null
}

/** The duration is a float of 4 or 8 bytes, in units of which a million nanoseconds are usual. */
function webmMs({ head }: File): number | null {
  const at = head.indexOf(Buffer.from([0x44, 0x89]))
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1, 0x83]))
  if (at === -1 || at + 11 > head.length) return null
  const scale = scaleAt === -1 ? 1_000_000 : head.readUIntBE(scaleAt + 4, 3)
  const length = head.readUInt8(at + 2) & 0x7f
  const duration = length === 8 ? head.readDoubleBE(at + 3) : length === 4 ? head.readFloatBE(at + 3) : null
  return duration === null ? null : (duration * scale) / 1_000_000
}

/** Kilobits a second by their index, of layer III: of MPEG 1, then of 2 and 2.5. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const
const sampleRates = [44_100, 48_000, 32_000] as const

/** The first frame states the number of frames; or else the slower of the held ends gives the rate of all of them. */
function mp3Ms({ head, tail, size }: File): number | null {
  const at = head.toString('latin1', 0, 3) === 'ID3' && head.length > 10 ? 10 + synchsafe(head) : 0
  const frame = at + 200 > head.length ? null : frameAt(head, at)
  if (frame === null) return null
  const told = [head.indexOf('Xing', at), head.indexOf('Info', at)].find((place) => place !== -1 && place < at + 60)
  if (told !== undefined && (head.readUInt8(told + 7) & 1) === 1) return head.readUInt32BE(told + 8) * frame.ms
  return ((size - at) * 8) / Math.min(meanKilobits(head, at), meanKilobits(tail, firstFrame(tail)))
}

/** Returns the mean rate of the frames that follow each other; Infinity: there are none. */
function meanKilobits(bytes: Buffer, from: number): number {
  let [at, ms] = [from, 0]
  while (at >= 0 && at + 4 <= bytes.length) {
    const frame = frameAt(bytes, at)
    if (frame === null) break
    at += Math.max(1, Math.floor((frame.kilobits * frame.ms) / 8))
    if (bytes[at] !== 0xff) at += 1
    ms += frame.ms
  }
  return ms === 0 ? Infinity : ((at - from) * 8) / ms
}

/** Two frames in a row are no accident. */
function firstFrame(bytes: Buffer): number {
  for (let at = bytes.indexOf(0xff); at !== -1 && at + 4 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at)
    const next = frame === null ? -1 : at + Math.floor((frame.kilobits * frame.ms) / 8)
    if (next !== -1 && [next, next + 1].some((place) => place + 4 < bytes.length && frameAt(bytes, place) !== null)) return at
  }
  return -1
}

/** Returns how long a frame of layer III lasts, and its rate in kilobits a second; null: there is none. */
function frameAt(head: Buffer, at: number): { readonly ms: number; readonly kilobits: number } | null {
  const [sync, version, rates] = [head.readUInt8(at), head.readUInt8(at + 1), head.readUInt8(at + 2)]
  if (sync !== 0xff || (version & 0xe6) !== 0xe2) return null
  const [isFirst, isSecond] = [(version & 0x18) === 0x18, (version & 0x18) === 0x10]
  const fastest = sampleRates[(rates >> 2) & 3]
  const kilobits = bitrates[isFirst ? 0 : 1][rates >> 4]
  if (fastest === undefined || kilobits === undefined || kilobits === 0) return null
  const rate = isFirst ? fastest : isSecond ? fastest / 2 : fastest / 4
  return { ms: ((isFirst ? 1152 : 576) / rate) * 1000, kilobits }
}

/** The length of the tags before the sound: seven bits a byte. */
const synchsafe = (head: Buffer): number => [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.readUInt8(at) & 0x7f), 0)
