/** Annotations that kubectl writes, and that a plugin of it reads or writes as kubectl does. */
export const kubectlAnnotations = {
  /** What was applied last. */
  lastApplied: 'kubectl.kubernetes.io/last-applied-configuration',
  /** When pods were asked to be made anew. */
  restartedAt: 'kubectl.kubernetes.io/restartedAt',
} as const
