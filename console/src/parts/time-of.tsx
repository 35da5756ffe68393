import { moment } from '../api/figures.ts'
import { useZone } from '../shell/zone.ts'

/** A moment in the zone that the person chose, with the zone. */
export function TimeOf({ iso }: { readonly iso: string }) {
  const [zone] = useZone()
  return (
    <time dateTime={iso} title={iso}>
      {moment(iso, zone)} {zone === 'utc' ? 'UTC' : 'local'}
    </time>
  )
}
