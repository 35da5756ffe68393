import type { WatchedFile, WatchedForm } from './form-watch.ts'
import { mp3Ms } from './mp3-length.ts'
import { mp4Tracks } from './mp4-length.ts'

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

/** Returns the length of a file from its container; null: it has none, or a false one, since it is less than so many bytes can hold. */
function msOf(file: File): number | null {
  const container = containers.find(({ magic, at }) => file.head.subarray(at, at + magic.length).equals(magic)) ?? mp3
  try {
    const ms = container.read(file)
    return ms !== null && ms >= 1 && ms < longestMs && ms >= (file.size * 8) / container.mostKilobits(file) ? Math.round(ms) : null
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
/** Pictures that move take more than sound, and so do samples that are packed without loss. */
const ofPictures = 10_000

/** The name of a codec of pictures, or of one that is not for speech, as an element. */
const codec = /\x86[\x81-\xff](?:V_[A-Z]|A_(?!OPUS|VORBIS|AAC|MPEG)[A-Z])/
const webmKilobits = ({ head }: File): number => (codec.test(head.toString('latin1')) ? ofPictures : ofSpeech())

function mp4Kilobits(file: File): number {
  const tracks = mp4Tracks(file)
  return tracks !== null && (tracks.hasPictures || tracks.isLossless) ? ofPictures : ofSpeech()
}

const containers: readonly Container[] = [
  { magic: Buffer.from('RIFF'), at: 0, read: wavMs, mostKilobits: ofSamples },
  { magic: Buffer.from('fLaC'), at: 0, read: flacMs, mostKilobits: flacKilobits },
  { magic: Buffer.from('OggS'), at: 0, read: oggMs, mostKilobits: ofSpeech },
  { magic: Buffer.from('ftyp'), at: 4, read: mp4Ms, mostKilobits: mp4Kilobits },
  { magic: Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), at: 0, read: webmMs, mostKilobits: webmKilobits },
]
/** Its frames are measured themselves. Tags before them may be longer than the sound. */
const mp3: Container = { magic: Buffer.alloc(0), at: 0, read: mp3Ms, mostKilobits: () => Infinity }

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

/** Each page states the number of samples up to its end: the largest counts. */
function oggMs({ head, tail }: File): number | null {
  const opus = head.indexOf('OpusHead')
  const vorbis = head.indexOf('\u0001vorbis', 0, 'latin1')
  let samples = 0
  for (const bytes of [head, tail])
    for (let at = bytes.indexOf('OggS'); at !== -1 && at + 14 <= bytes.length; at = bytes.indexOf('OggS', at + 4))
      samples = Math.max(samples, Number(bytes.readBigInt64LE(at + 6)))
  if (opus !== -1) return (samples - head.readUInt16LE(opus + 10)) / 48
  return vorbis === -1 ? null : (samples / head.readUInt32LE(vorbis + 12)) * 1000
}

/** The longest of the lengths that the headers of a file and of its tracks state. */
function mp4Ms(file: File): number | null {
  return mp4Tracks(file)?.ms ?? null
}

/** The duration is a float of 4 or 8 bytes, in units of which a million nanoseconds are usual. The last cluster may state a later time. */
function webmMs({ head, tail }: File): number | null {
  const at = head.indexOf(Buffer.from([0x44, 0x89]))
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1, 0x83]))
  if (at === -1 || at + 11 > head.length) return null
  const scale = scaleAt === -1 ? 1_000_000 : head.readUIntBE(scaleAt + 4, 3)
  const length = head.readUInt8(at + 2) & 0x7f
  const duration = length === 8 ? head.readDoubleBE(at + 3) : length === 4 ? head.readFloatBE(at + 3) : null
  return duration === null ? null : (Math.max(duration, lastClusterTime(tail)) * scale) / 1_000_000
}

const [clusterMark, longestHead] = [Buffer.from([0x1f, 0x43, 0xb6, 0x75]), 16] as const

/** Returns the time at which the last cluster begins, the first of its elements; 0: it is not held. */
function lastClusterTime(tail: Buffer): number {
  const cluster = tail.lastIndexOf(clusterMark)
  const at = cluster === -1 ? -1 : tail.indexOf(0xe7, cluster + 5)
  if (at === -1 || at > cluster + longestHead || at + 10 > tail.length) return 0
  const length = tail.readUInt8(at + 1) & 0x7f
  return length > 0 && length <= 6 ? tail.readUIntBE(at + 2, length) : 0
}
