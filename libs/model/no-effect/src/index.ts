export { missingFeatures, needless } from './data.ts'
export type { AnnotatedKind, FlagsOfPrograms, MissingFeature, Needless } from './data.ts'
export { ignoredFlags } from './flags.ts'
export type { GivenFlag, Program } from './flags.ts'
export {
  ignoredAnnotations,
  ignoredFields,
  ignoredLabels,
  ignoredName,
  ignoredTexts,
  maybeIgnored,
} from './ignored.ts'
export type { Ignored } from './ignored.ts'
