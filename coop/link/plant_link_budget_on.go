//go:build plant_link_budget

package link

const plantBudget = true
