import { SkeletonError } from './errors.ts'

/** Where the features of an area are. */
interface Area {
  /** Name of the project. */
  readonly project: string
  /** The folder that features are folders of. */
  readonly features: string
  /** What the project exports. */
  readonly door: string
  /** The list of all features. */
  readonly list: string
}

const areas: Readonly<Record<string, Area>> = {
  network: areaIn('network'),
  addresses: areaIn('addresses'),
  pods: areaIn('pods'),
  policies: areaIn('policies'),
}

function areaIn(project: string): Area {
  return {
    project: `@kube-ovn/features-${project}`,
    features: `libs/features/${project}/src`,
    door: `libs/features/${project}/src/index.ts`,
    list: 'libs/assembly/controller/src/features.ts',
  }
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
