/** Who may import whom, in the words of `@nx/enforce-module-boundaries`. */
export interface DependencyConstraint {
  readonly sourceTag: string
  readonly onlyDependOnLibsWithTags?: readonly string[]
  readonly notDependOnLibsWithTags?: readonly string[]
  /** npm packages, as patterns. */
  readonly allowedExternalImports?: readonly string[]
}

interface Layer {
  readonly name: string
  readonly mayImport: readonly string[]
  /** Absent: any. */
  readonly packages?: readonly string[]
}

const product = ['core', 'model', 'io', 'runtime', 'domain', 'feature', 'assembly']

/** From the bottom to the top; docs/architecture.md has the picture. */
const layers: readonly Layer[] = [
  { name: 'core', mayImport: ['core'], packages: [] },
  { name: 'model', mayImport: ['core', 'model'], packages: ['zod'] },
  { name: 'io', mayImport: ['core', 'model', 'io'] },
  {
    name: 'runtime',
    mayImport: ['core', 'model', 'io', 'runtime'],
    packages: ['pino', 'prom-client', '@opentelemetry/*', 'zod'],
  },
  { name: 'domain', mayImport: ['core', 'model', 'io', 'runtime', 'domain'], packages: [] },
  // One area of features knows nothing of another.
  { name: 'feature', mayImport: ['core', 'model', 'io', 'runtime', 'domain'], packages: [] },
  { name: 'assembly', mayImport: ['core', 'model', 'io', 'runtime', 'domain', 'feature'], packages: [] },
  { name: 'app', mayImport: product },
  { name: 'testing', mayImport: [...product, 'testing', 'tool'] },
  { name: 'tool', mayImport: [...product, 'testing', 'tool'] },
]

const planes: readonly DependencyConstraint[] = [
  { sourceTag: 'plane:control', notDependOnLibsWithTags: ['plane:node'] },
  { sourceTag: 'plane:node', notDependOnLibsWithTags: ['plane:control'] },
]

/** The rules for the code that is shipped. */
export const sourceConstraints: readonly DependencyConstraint[] = [
  ...layers.map(({ name, mayImport, packages }) => ({
    sourceTag: `layer:${name}`,
    onlyDependOnLibsWithTags: mayImport.map((layer) => `layer:${layer}`),
    ...(packages === undefined ? {} : { allowedExternalImports: packages }),
  })),
  ...planes,
]

/** Tests beside the code import test fixtures and test libraries too. */
export const testConstraints: readonly DependencyConstraint[] = [
  ...layers.map(({ name, mayImport }) => ({
    sourceTag: `layer:${name}`,
    onlyDependOnLibsWithTags: [...new Set([...mayImport, 'testing'])].map((layer) => `layer:${layer}`),
  })),
  ...planes,
]
