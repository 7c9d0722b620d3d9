import { SkeletonError } from './errors.ts'

/** Where the features of an area are. */
interface Area {
  /** The folder that features are folders of. */
  readonly features: string
  /** The list of all features. */
  readonly list: string
}

/** All areas of the controller are in one project as yet; one that gets a project of its own gets a line of its own here. */
const controller: Area = {
  features: 'libs/features/control/src',
  list: 'libs/features/control/src/features.ts',
}

const areas: Readonly<Record<string, Area>> = {
  network: controller,
  addresses: controller,
  policies: controller,
  services: controller,
  gateways: controller,
}

/** @throws SkeletonError for an area that there is not */
export function areaOf(name: string): Area {
  const area = Object.entries(areas).find(([key]) => key === name)?.[1]
  if (area !== undefined) return area
  throw new SkeletonError('there is no such area', {
    field: 'AREA',
    value: name,
    cure: `write one of ${Object.keys(areas).join(', ')}, or add a line to tools/generate/src/skeleton/areas.ts`,
  })
}
