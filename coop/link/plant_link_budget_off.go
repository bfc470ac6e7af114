//go:build !plant_link_budget

package link

// plantBudget puts all marks into one frame, and all events into one batch.
const plantBudget = false
