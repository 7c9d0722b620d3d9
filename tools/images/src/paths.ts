import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The checkout. */
export const repository = resolve(import.meta.dirname, '../../..')

/** What is built; not under version control. */
export const dist = join(repository, 'dist')

/** Bundles and executables, as they go into images. */
export const programsDirectory = join(dist, 'programs')

/** What users get to install, and what it is made of. */
export const executablesDirectory = join(dist, 'executables')

/** Dockerfiles and what is copied from beside them. */
export const imageSources = join(repository, 'tools/images/images')

const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }

/** Version of the product, e.g. v0.1.0. */
export const productVersion = `v${version}`
